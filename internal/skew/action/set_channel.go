package action

// SetChannel chooses where updates come from.
type SetChannel struct {
	defaults
	Channel string
	// Was is the channel now, "" where that isn't known.
	Was string
}

func (SetChannel) rank() int { return rankLast }

func (a SetChannel) sets() []setting { return []setting{{"channel", a.Channel}} }
