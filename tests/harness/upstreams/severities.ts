import { type Behaviour, type Call, isJson } from './call'

/** The categories of Azure AI Content Safety, and their words in a text of a test. */
const categories = { Hate: 'hate', SelfHarm: 'self-harm', Sexual: 'sexual', Violence: 'violence' }

/** The severity of a category: the digit after its word, 5 without one, 0 where the word is missing. */
function severityIn(text: string, word: string): number {
  const found = new RegExp(`${word}(?: (\\d))?`).exec(text)
  return found ? Number(found[1] ?? 5) : 0
}

async function analyze(call: Call, severityOf: (word: string) => number): Promise<void> {
  const { attempt, reply } = call
  attempt.answered = true
  await reply.json(200, {
    blocklistsMatch: [],
    categoriesAnalysis: Object.entries(categories).map(([category, word]) => ({
      category,
      severity: severityOf(word),
    })),
  })
  attempt.complete = true
}

const reject = ({ reply }: Call, message: string) =>
  reply.json(400, { error: { code: 'InvalidRequestBody', message, details: [] } })

/** https://learn.microsoft.com/en-us/rest/api/contentsafety/text-operations/analyze-text */
async function asAnalyzedText(call: Call): Promise<void> {
  const { text, outputType } = call.received.body
  if (typeof text !== 'string') return reject(call, 'The text is missing.')
  if (text.length > 10_000) return reject(call, 'The text is longer than 10,000 characters.')
  const isWhole = outputType === 'EightSeverityLevels'
  await analyze(call, (word) => {
    const severity = severityIn(text, word)
    return isWhole ? severity : severity - (severity % 2)
  })
}

/** https://learn.microsoft.com/en-us/rest/api/contentsafety/image-operations/analyze-image */
async function asAnalyzedImage(call: Call): Promise<void> {
  const { image, outputType } = call.received.body
  const content: unknown = isJson(image) ? image['content'] : undefined
  if (typeof content !== 'string' || outputType === 'EightSeverityLevels') {
    return reject(call, 'The image is missing, or has no such output type.')
  }
  await analyze(call, (word) => (word === 'violence' ? 6 : 0))
}

const textPath = '/v1/contentsafety/text:analyze'
const imagePath = '/v1/contentsafety/image:analyze'

/** Analyses of Azure AI Content Safety, by their paths. */
export const severities: readonly (readonly [string, Record<string, Behaviour>])[] = [
  [textPath, { ok: asAnalyzedText }],
  [imagePath, { ok: asAnalyzedImage }],
]

/** The behaviour of a request for such an analysis; undefined for other requests. */
export const severityModelOf = (path: string): string | undefined =>
  path === textPath || path === imagePath ? 'ok' : undefined
