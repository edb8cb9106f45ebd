package skew

import "math"

// disperse returns how uneven the values are: population standard deviation
// over mean, and maximum over mean. Both are absent for fewer than two values
// or a mean of zero.
func disperse(values []float64) Dispersion {
	if len(values) < 2 {
		return Dispersion{}
	}
	sum, top := 0.0, 0.0
	for _, v := range values {
		sum += v
		top = max(top, v)
	}
	mean := sum / float64(len(values))
	if mean <= 0 {
		return Dispersion{}
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return Dispersion{
		CV:        known(math.Sqrt(squares/float64(len(values))) / mean),
		MaxToMean: known(top / mean),
	}
}
