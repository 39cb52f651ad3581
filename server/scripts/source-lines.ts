/** The parts of a source map (version 3) that stack traces need. */
interface SourceMap {
  sources: string[]
  mappings: string
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const valueOf = new Map(digits.split('').map((digit, value) => [digit, value]))

/** Decodes the numbers of a position (base 64 VLQ): five bits a digit, the lowest first; the first bit is the sign. */
function decode(position: string): number[] {
  const numbers: number[] = []
  let [shift, bits] = [0, 0]
  for (const digit of position) {
    const value = valueOf.get(digit) ?? 0
    bits |= (value & 31) << shift
    shift += 5
    if (value & 32) continue
    numbers.push(bits & 1 ? -(bits >>> 1) : bits >>> 1)
    ;[shift, bits] = [0, 0]
  }
  return numbers
}

function encode(numbers: readonly number[]): string {
  let text = ''
  for (const number of numbers) {
    let bits = number < 0 ? (-number << 1) | 1 : number << 1
    do {
      const rest = bits >>> 5
      text += digits[(bits & 31) | (rest > 0 ? 32 : 0)] ?? ''
      bits = rest
    } while (bits > 0)
  }
  return text
}

/**
 * Keeps one position of each line of a program in its source map: that of the first token. The engine holds a map in
 * memory once a stack trace was written: 1.5 MB for the server with the lines, 8 MB with all positions.
 */
export function keepLines({ sources, mappings }: SourceMap, program: string): SourceMap {
  const lines = program.split('\n')
  // Source, line and column count on over all lines, the column of the program within its line.
  let [source, line, column] = [0, 0, 0]
  let kept = [0, 0, 0]
  const thinned = mappings.split(';').map((positions, at) => {
    const indent = /^\s*/.exec(lines[at] ?? '')?.[0].length ?? 0
    let first: number[] | undefined
    let own = 0
    for (const position of positions.split(',')) {
      if (position === '') continue
      const [ownStep = 0, sourceStep = 0, lineStep = 0, columnStep = 0] = decode(position)
      own += ownStep
      source += sourceStep
      line += lineStep
      column += columnStep
      // What maps the white space before it belongs to the line before.
      if (!first || (first[0] ?? 0) < indent) first = [own, source, line, column]
    }
    if (!first) return ''
    const [start = 0, ...original] = first
    const steps = original.map((value, index) => value - (kept[index] ?? 0))
    kept = original
    return encode([start, ...steps])
  })
  return { sources, mappings: thinned.join(';') }
}
