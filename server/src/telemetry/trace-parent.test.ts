import { describe, expect, test } from 'bun:test'
import { isTraced, readTraceParent } from './trace-parent'

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const span = '00f067aa0ba902b7'

test('a parent as the standard has it is read', () => {
  const parent = { traceId: trace, spanId: span }
  expect(readTraceParent(`00-${trace}-${span}-01`)).toEqual({ ...parent, isSampled: true })
  expect(readTraceParent(`00-${trace}-${span}-00`)).toEqual({ ...parent, isSampled: false })
  expect(readTraceParent(`00-${trace}-${span}-03`)).toEqual({ ...parent, isSampled: true })
  expect(readTraceParent(`cc-${trace}-${span}-01-what-comes`)).toEqual({
    ...parent,
    isSampled: true,
  })
})

test.each([
  null,
  '',
  'x',
  `00-${trace}-${span}`,
  `00-${trace}-${span}-01-more`,
  `00-${trace}-${span}-01 `,
  `ff-${trace}-${span}-01`,
  `00-${'0'.repeat(32)}-${span}-01`,
  `00-${trace}-${'0'.repeat(16)}-01`,
  `00-${trace.toUpperCase()}-${span}-01`,
  `00-${trace.slice(1)}-${span}-01`,
  `00-${trace}-${span}-0g`,
  `00-${trace}-${span}-01,00-${trace}-${span}-01`,
])('another one is ignored: %p', (header) => {
  expect(readTraceParent(header)).toBeUndefined()
})

describe('sampling', () => {
  const sampled = { traceId: trace, spanId: span, isSampled: true }
  const unsampled = { ...sampled, isSampled: false }
  const part = { ratio: 0.25, followsParent: true }

  test('a caller cannot raise the sampling rate of its requests', () => {
    expect(isTraced(part, sampled, () => 0.3)).toBe(false)
    expect(isTraced(part, sampled, () => 0.2)).toBe(true)
    expect(isTraced({ ...part, ratio: 0 }, sampled, () => 0)).toBe(false)
  })

  test('a trusted caller can disable tracing of its requests', () => {
    expect(isTraced({ ...part, ratio: 1 }, unsampled, () => 0)).toBe(false)
    expect(isTraced({ ratio: 1, followsParent: false }, unsampled, () => 0)).toBe(true)
    expect(isTraced({ ...part, ratio: 1 }, undefined, () => 0.9)).toBe(true)
  })
})
