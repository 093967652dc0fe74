package latency

// Checkpoint returns the model with weights that a method of vLLM quantised, whatever the
// description says of them: another checkpoint of the same model. A description whose
// narrowest weights are like the method's is of that checkpoint, and stays as it is. An
// error names the method if its width is not known.
func (s *ModelSpec) Checkpoint(method string) (ModelSpec, error) {
	plain := *s
	plain.WeightBits, plain.ScaleBits, plain.ActivationBits = 8*s.ElementBytes, 0, 8*s.ElementBytes
	plain.MLPWidth, plain.ExpertWidth = PartWidth{}, PartWidth{}
	other, err := plain.Served(Widths{Quantization: method})
	if err != nil {
		return *s, err
	}
	a, b := narrowest(s), narrowest(&other)
	if a.WeightBits == b.WeightBits && a.ActivationBits == b.ActivationBits {
		return *s, nil
	}
	other.Reshaped = true
	return other, nil
}

// narrowest returns the widths of the part of a model with the fewest bits per weight.
func narrowest(s *ModelSpec) PartWidth {
	w, mlp, experts := s.Counts().widths()
	for _, part := range []PartWidth{mlp, experts} {
		if part.WeightBits < w.WeightBits {
			w = part
		}
	}
	return w
}
