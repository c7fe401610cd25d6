package wire

import (
	"errors"
	"fmt"
	"strconv"
)

// ErrGear is matched by the refusal of a thinking gear that a protocol does not have.
var ErrGear = errors.New("the thinking gear is not supported")

// The gears that are the host's own words. Any other word is sent as it is.
const (
	GearDefault = "default"
	GearOff     = "off"
	GearMinimal = "minimal"
	GearLow     = "low"
	GearMedium  = "medium"
	GearHigh    = "high"
	GearMaximum = "maximum"
)

// Budget returns the number of tokens of a gear that is a budget.
func Budget(gear string) (tokens int, ok bool) {
	if gear == "" || gear[0] < '0' || gear[0] > '9' {
		return 0, false
	}
	n, err := strconv.Atoi(gear)
	return n, err == nil
}

// NoBudget is the refusal of a budget by a protocol that has effort words alone.
func NoBudget(protocol, gear string) error {
	return fmt.Errorf("%w: protocol %s has no token budget (%s); choose an effort word", ErrGear, protocol, gear)
}
