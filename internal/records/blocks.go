package records

// Blocks keeps records one behind the other in blocks; none lies across two.
type Blocks [][]byte

// blockBytes is the size of a block but for the first few, which are smaller.
const blockBytes = 256 << 10

// Append copies a record.
func (b *Blocks) Append(record []byte) {
	list, last := *b, len(*b)-1
	if last < 0 || cap(list[last])-len(list[last]) < len(record) {
		size := 1 << 10
		if last >= 0 {
			size = min(blockBytes, 2*cap(list[last]))
		}
		list = append(list, make([]byte, 0, max(len(record), size)))
		last++
		*b = list
	}
	list[last] = append(list[last], record...)
}

// Clear forgets the records and keeps the largest block.
func (b *Blocks) Clear() {
	list := *b
	if len(list) == 0 {
		return
	}
	list[0] = list[len(list)-1][:0]
	clear(list[1:])
	*b = list[:1]
}
