package servegen

import (
	"math"

	"blis/workload/draw"
)

// empirical is the distribution of values with weights. Package draw has no
// distribution of this kind yet: until draw.NewEmpirical is there, which takes
// the same arguments and replaces this function, it is the normal distribution
// of the same mean and standard deviation.
func empirical(values, weights []float64) (draw.Distribution, error) {
	sum, mean, square := 0.0, 0.0, 0.0
	for i, w := range weights {
		sum += w
		mean += float64(w * values[i])
	}
	mean /= sum
	for i, w := range weights {
		d := values[i] - mean
		square += float64(w * float64(d*d))
	}
	return draw.Gaussian(mean, math.Sqrt(square/sum)), nil
}

// law is a process with gaps of a shape. When draw.Law has a Shape, it is that.
func law(process draw.Process, shape float64) draw.Law {
	return draw.Law{Process: process, CV: variation(process, shape)}
}
