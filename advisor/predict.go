package advisor

func (v *view) predict() *Predicted { return nil }
