import { expect, test } from 'bun:test'
import { isOneLine, toOneLine } from './one-line'

test.each(['Ada', "O'Brien-Łukasiewicz, Dr.", '李明', 'عمر', 'a\u00a0b', '👩‍👩‍👧 team'])(
  '%p is one line',
  (text) => {
    expect(isOneLine(text)).toBeTrue()
    expect(toOneLine(text, 100).length).toBeGreaterThan(0)
  },
)

test.each([
  '\0',
  '\n',
  '\r\n',
  '\t',
  '\u001b[31m',
  '\u0085',
  '\u2028',
  '\u2029',
  '\u202e',
  '\u2066',
])('S4: %j is not allowed, and becomes a space', (bad) => {
  expect(isOneLine(`Ada${bad}Eve`)).toBeFalse()
  const line = toOneLine(`  Ada${bad}Eve  `, 100)
  expect(isOneLine(line)).toBeTrue()
  expect(line).toStartWith('Ada ')
})

test('truncates a long text', () => {
  expect(toOneLine('x'.repeat(60_000), 100)).toHaveLength(100)
})
