package machine

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryIsDivided(t *testing.T) {
	for _, total := range []int64{0, 256 << 20, 512 << 20, 1 << 30, 2 << 30, 8 << 30, 1 << 40} {
		m := divideMemory(total)
		if m.Workers < 2 || m.Modelling < 2 || m.Previews < 2 {
			t.Errorf("%d bytes: one workspace can have all places: %+v", total, m)
		}
		if m.Large < 1 || total > 0 && int64(m.Large-1)*largeLoad > m.Server {
			t.Errorf("%d bytes: %d tables may have large rows", total, m.Large)
		}
		if total >= 512<<20 && m.Server+int64(m.Workers)*(m.Worker+WorkerBase) > total {
			t.Errorf("%d bytes: the parts are more than the whole: %+v", total, m)
		}
		if total >= 8<<30 && m.Worker != 512<<20 {
			t.Errorf("%d bytes: a worker has %d", total, m.Worker)
		}
	}
}

func TestMemoryOfControlGroups(t *testing.T) {
	for _, test := range []struct {
		name, groups string
		files        map[string]string
		want         int64
	}{
		{"none", "0::/\n", nil, math.MaxInt64},
		{"second version", "0::/a/b\n", map[string]string{"a/b/memory.max": "max\n", "a/memory.max": "536870912\n"}, 512 << 20},
		{"second version, seen from inside", "0::/a/b\n", map[string]string{"memory.max": "1048576\n"}, 1 << 20},
		{
			"first version", "4:memory:/x/y\n3:cpu:/\n",
			map[string]string{"memory/x/y/memory.limit_in_bytes": "4096\n", "memory/x/memory.limit_in_bytes": "9223372036854771712\n"},
			4096,
		},
		{"first version, several controllers", "4:cpu,memory:/\n", map[string]string{"memory/memory.limit_in_bytes": "8192\n"}, 8192},
		{"nonsense", "memory\n1:2\n", map[string]string{"memory.max": "x"}, math.MaxInt64},
	} {
		t.Run(test.name, func(t *testing.T) {
			mounted := t.TempDir()
			for name, text := range test.files {
				file := filepath.Join(mounted, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := groupMemory([]byte(test.groups), mounted); got != test.want {
				t.Errorf("%d, want %d", got, test.want)
			}
		})
	}
}
