package cli

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"blis/setup"
	"blis/yamldoc"
)

// Settings of one pool of two are no flags of the grammar, which would be twice as large:
// --prefill-X and --decode-X are taken out of the command line before it is parsed, in the
// environment they are looked up one by one, and a file has them beside the others.

// pools are the pools that have settings of their own, by the names of the settings that hold
// these.
var pools = []string{"prefill", "decode"}

// ofPools are settings of pools from one origin, by pool.
type ofPools map[string]*setup.Overrides

// of returns the settings of a pool.
func (p ofPools) of(pool string) setup.Overrides {
	if o := p[pool]; o != nil {
		return *o
	}
	return setup.Overrides{}
}

// set gives a pool a setting.
func (p ofPools) set(pool, name, text string) error {
	if p[pool] == nil {
		p[pool] = new(setup.Overrides)
	}
	return p[pool].Add(name, text)
}

// poolFlag splits the name of a flag or a setting of a pool, prefill-tp. Names of other settings
// are none.
func poolFlag(name string) (pool, setting string, found bool) {
	if slices.Contains(notOfPools, name) {
		return "", "", false
	}
	for _, pool := range pools {
		if setting, found := strings.CutPrefix(name, pool+"-"); found {
			return pool, setting, true
		}
	}
	return "", "", false
}

// notOfPools are the flags that look as if they were those of pools.
var notOfPools = []string{"prefill-replicas", "prefill-instances", "decode-replicas", "decode-instances"}

// takePoolFlags takes the flags of pools out of a command line.
func takePoolFlags(args []string) (rest []string, taken ofPools, err error) {
	taken = ofPools{}
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(rest, args[i:]...), taken, nil
		}
		flag, isFlag := strings.CutPrefix(args[i], "--")
		flag, value, given := strings.Cut(flag, "=")
		positive, off := strings.CutPrefix(flag, "no-")
		pool, setting, found := poolFlag(positive)
		if !isFlag || !found {
			rest = append(rest, args[i])
			continue
		}
		setting = strings.ReplaceAll(setting, "_", "-")
		switch onOff := setup.IsPoolSwitch(setting); {
		case off && (given || !onOff):
			return nil, nil, inputErrorf("--%s: want --%s with a value", flag, positive)
		case off:
			value = "false"
		case given:
		case onOff:
			value = "true"
		case i+1 < len(args) && !strings.HasPrefix(args[i+1], "--"):
			i++
			value = args[i]
		default:
			return nil, nil, inputErrorf("--%s: want a value behind it", flag)
		}
		if err := taken.set(pool, setting, value); err != nil {
			return nil, nil, inputErrorf("--%s: %v", flag, err)
		}
	}
	return rest, taken, nil
}

// readPoolSetting reads a setting of a pool in a file of settings: one of them, or a mapping of
// all.
func (s *settingsFile) readPoolSetting(path string, m *yamldoc.Member) error {
	at := yamldoc.Place{}.Within(m.Name, m.Line)
	if slices.Contains(pools, m.Name) && m.Value.Kind == yamldoc.Mapping {
		var o setup.Overrides
		if err := o.Read(path, at, m.Value); err != nil {
			return inputError(err.Error())
		}
		s.pools[m.Name] = new(s.pools.of(m.Name).Over(o)) // which stand alone win
		return nil
	}
	pool, setting, found := poolFlag(m.Name)
	if !found {
		return inputErrorf("%v", at.Fault(path, "%s is not allowed, want settings of the pool, like {tp: 4, hardware: H200}", m.Value.Describe()))
	}
	var o setup.Overrides
	if err := o.ReadOne(setting, m.Value); err != nil {
		return inputErrorf("%v", at.Fault(path, "%v", err))
	}
	s.pools[pool] = new(o.Over(s.pools.of(pool)))
	return nil
}

// poolVariables reads the settings of pools in the environment.
func (l *settingSources) poolVariables() (ofPools, error) {
	taken := ofPools{}
	for _, pool := range pools {
		if text, found := l.lookup(variable(pool)); found {
			var o setup.Overrides
			if err := o.UnmarshalText([]byte(text)); err != nil {
				return nil, inputErrorf("%s: %v", variable(pool), err)
			}
			taken[pool] = &o
		}
		for _, name := range setup.PoolSettings() {
			flag := pool + "-" + name
			if text, found := l.lookup(variable(flag)); found {
				if err := taken.set(pool, name, text); err != nil {
					return nil, inputErrorf("%s: %s: %v", variable(flag), flag, err)
				}
			}
		}
	}
	return taken, nil
}

// takePools gives the configuration the settings of pools: those of a flag before those of the
// environment, these before those of the file.
func (s *settings) takePools(command *kong.Context, l *settingSources) error {
	variables, err := l.poolVariables()
	if err != nil {
		return err
	}
	for _, pool := range pools {
		into := &s.Prefill
		if pool == "decode" {
			into = &s.Decode
		}
		all := l.flags.of(pool).Over(*into) // which a flag has given as a whole
		*into = all.Over(variables.of(pool)).Over(l.file.pools.of(pool))
	}
	return nil
}

// refusePoolFlags refuses settings of pools in the command line of a command without runs.
func (l *settingSources) refusePoolFlags() error {
	for _, pool := range pools {
		if names := l.flags.of(pool).Names(); len(names) > 0 {
			return inputErrorf("unknown flag --%s-%s", pool, names[0])
		}
	}
	return nil
}
