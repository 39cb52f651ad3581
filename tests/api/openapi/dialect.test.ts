import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { adviceFrom, dialect, type WordingRule } from '../../dialect'

const root = join(import.meta.dir, '../../..')

/** Values that clients have stored, which a better word would break. */
const publicValues = new Set(['member.asked'])

const rules: readonly WordingRule[] = [
  ...dialect,
  [/(?:^|[.?!]\s+)(?:how|why|when|who|whose|where|which|that|those)\b/i, 'the noun as the subject'],
  [/\bby who\b/i, 'by payer, by the account'],
  [/(?<!\bat )\bmost\b|\b(?:longest|shortest|furthest)\b/i, 'maximum, minimum'],
]

/** Returns the text without code, which is quoted as it is. */
const withoutCode = (text: string) => text.replaceAll(/`[^`]*`/g, '…')

const isText = (value: unknown): value is string => typeof value === 'string'

/** Collects the texts of a document that readers see: descriptions, summaries, and the words of values. */
function textsIn(node: unknown, texts = new Set<string>()): Set<string> {
  if (typeof node !== 'object' || node === null) return texts
  for (const [name, value] of Object.entries(node)) {
    if ((name === 'description' || name === 'summary') && isText(value)) {
      texts.add(withoutCode(value))
    } else if (name === 'enum' && Array.isArray(value)) {
      const values = value.filter(isText).filter((one) => !publicValues.has(one))
      for (const one of values) texts.add(one.replaceAll(/[._-]/g, ' '))
    } else textsIn(value, texts)
  }
  return texts
}

test.each(['openapi.json', 'openapi-operator.json'])(
  '%s has descriptions, summaries and values in the words of the field',
  async (file) => {
    const texts = [...textsIn(await Bun.file(join(root, file)).json())]
    expect(texts.length).toBeGreaterThan(300)
    const wrong = texts.flatMap((text) => adviceFrom(text, rules).map((advice) => [text, advice]))
    expect(wrong).toEqual([])
  },
)

test.each([
  'How many choices to make',
  'The most tokens of one choice',
  'Newest first. Those that are public.',
  'Null for what the plan says',
  'By who paid',
  'Nobody is told',
])('"%s" is reported', (text) => {
  expect(adviceFrom(text, rules)).not.toEqual([])
})

test.each([
  'Whether the key is disabled',
  'At most 64 KB',
  'Sent as `what`, by the member who pays',
])('"%s" is accepted', (text) => {
  expect(adviceFrom(withoutCode(text), rules)).toEqual([])
})
