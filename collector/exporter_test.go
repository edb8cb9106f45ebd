package collector

import "time"

// stopped is a clock that stands still.
func stopped() time.Time { return noon }
