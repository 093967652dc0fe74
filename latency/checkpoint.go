package latency

// Checkpoint returns the model with weights that a method of vLLM quantised, whatever the
// description says of them: another checkpoint of the same model. A description with
// weights as wide as the method's is of that checkpoint, and stays as it is. An error
// names the method if its width is not known.
func (s *ModelSpec) Checkpoint(method string) (ModelSpec, error) {
	plain := *s
	plain.WeightBits, plain.ScaleBits, plain.ActivationBits = 8*s.ElementBytes, 0, 8*s.ElementBytes
	other, err := plain.Served(Widths{Quantization: method})
	if err != nil || other.WeightBits == s.WeightBits {
		return *s, err
	}
	other.Reshaped = true
	return other, nil
}
