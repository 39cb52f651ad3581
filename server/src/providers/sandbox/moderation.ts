import { requireModel } from './models'
import { SandboxModerationRequest, parse } from './request'

/** The categories of OpenAI's `omni-moderation-latest`. */
const categories = [
  'harassment',
  'harassment/threatening',
  'hate',
  'hate/threatening',
  'illicit',
  'illicit/violent',
  'self-harm',
  'self-harm/intent',
  'self-harm/instructions',
  'sexual',
  'sexual/minors',
  'violence',
  'violence/graphic',
] as const

const flaggedScore = 0.98
const usualScore = 0.000_01

const byCategory = <Value>(valueOf: (category: string) => Value): Record<string, Value> =>
  Object.fromEntries(categories.map((category) => [category, valueOf(category)]))

/** Judges a text by the names of categories in it: `violence` is flagged as violence. */
function judge(text: string) {
  const words = new Set(text.toLowerCase().match(/[a-z]+(?:[-/][a-z]+)*/g))
  return {
    flagged: categories.some((category) => words.has(category)),
    categories: byCategory((category) => words.has(category)),
    category_scores: byCategory((category) => (words.has(category) ? flaggedScore : usualScore)),
    category_applied_input_types: byCategory(() => ['text']),
  }
}

/** `POST /moderations`. The parts of one input are judged together, images as nothing. Throws `Refusal`. */
export function answerModeration(body: unknown): Response {
  const { model, input } = parse(SandboxModerationRequest, body)
  requireModel(model, 'moderation')
  const items = typeof input === 'string' ? [input] : input
  const texts = items.filter((item) => typeof item === 'string')
  const parts = items.flatMap((item) => (typeof item === 'string' ? [] : [item.text ?? '']))
  const inputs = texts.length > 0 ? texts : [parts.join('\n')]
  return Response.json({ id: 'modr-sandbox', model, results: inputs.map(judge) })
}
