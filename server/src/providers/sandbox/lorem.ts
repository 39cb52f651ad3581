import { takeTokens } from './text'

const maxTokens = 4096
const defaultTokens = 120

const subjects = [
  'The ferry', 'A patient clerk', 'The night market', 'An old lighthouse', 'The third witness',
  'A borrowed umbrella', 'The tollkeeper', 'A quiet engine', 'The upper valley', 'An unread letter',
  'The stone bridge',
] // prettier-ignore
const verbs = [
  'crosses', 'remembers', 'measures', 'waits beside', 'counts', 'circles', 'outlives',
] // prettier-ignore
const objects = [
  'the river', 'seven lanterns', 'a ledger of small debts', 'the harbour wall', 'every coin',
  'the slow afternoon', 'a field of barley', 'the last train', 'its own shadow', 'the painted gate',
  'a map without names', 'the winter road', 'two sleeping dogs',
] // prettier-ignore
const endings = [
  'before the rain', 'without a word', 'as the bells begin', 'for the hundredth time',
  'while the town sleeps',
] // prettier-ignore

const pick = (list: readonly string[], index: number): string => list[index % list.length] ?? ''

// The lengths of the four lists are pairwise coprime, so that a sentence comes back after 5,005.
const sentence = (index: number) =>
  `${pick(subjects, index)} ${pick(verbs, index)} ${pick(objects, index)} ${pick(endings, index)}.`

/**
 * Made-up prose. Without a limit it has 120 tokens, with one a token more than that, so that the limit
 * ends it; never more than 4,096. Each `variant` begins at another sentence.
 */
export function generateLorem(limit: number | undefined, variant: number): string {
  const targetLength = limit === undefined ? defaultTokens : Math.min(limit + 1, maxTokens)
  // No sentence has fewer than eight words.
  const sentences = Array.from({ length: Math.ceil(targetLength / 8) }, (_, index) => {
    const gap = index === 0 ? '' : index % 5 === 0 ? '\n\n' : ' '
    return gap + sentence(index + variant * 17)
  })
  return takeTokens(sentences.join(''), targetLength).replace(/\W*$/, '.')
}
