package cas

// asOther: one user is all that these tests have there.
func asOther() {}
