import { isFailure } from '../event'
import { readDataUrl } from '../media'
import type { Moderating, ModerationFormat } from '../moderation-format'
import { unsupported } from '../unsupported-fields'
import { invalidAnswer, toCallerError } from '../upstream-error'
import { isObject, toObjects, type JsonObject } from '../../wire/json-body'
import type { ModerationPart } from '../../wire/moderation-request'

const apiVersion = '2024-09-01'
const textPath = `/contentsafety/text:analyze?api-version=${apiVersion}`
const imagePath = `/contentsafety/image:analyze?api-version=${apiVersion}`

/** The service's categories, by their names in OpenAI's answers. */
const categoryNames = {
  Hate: 'hate',
  SelfHarm: 'self-harm',
  Sexual: 'sexual',
  Violence: 'violence',
} as const

/** Texts have severities from 0 to 7, images 0, 2, 4 and 6. */
const highestSeverity = 7

/**
 * Azure AI Content Safety: one text or image a request, and a severity for each of four categories. A score is the
 * severity divided by the highest; `moderationFlagSeverity` decides what is flagged.
 * @see https://learn.microsoft.com/en-us/rest/api/contentsafety/text-operations/analyze-text
 */
export const azureContentSafety: ModerationFormat = {
  maxSingleTexts: 100,
  write({ input, target }) {
    const [image, ...more] = imagesOf(input)
    if (image === undefined) {
      return {
        path: textPath,
        body: { text: toOneText(input), outputType: 'EightSeverityLevels' },
      }
    }
    const { index, url } = image
    if (more.length > 0 || input.length > 1) {
      throw unsupported('input', 'input: this model classifies a text or one image, not both.')
    }
    const data = readDataUrl(url)
    if (!data || !target.options.moderationImages) {
      throw unsupported(`input.${index}`, `input.${index}: this model ${readsInstead(data)}.`)
    }
    return {
      path: imagePath,
      body: { image: { content: data.base64 }, outputType: 'FourSeverityLevels' },
    }
  },
  read(answer, { options }, source) {
    if (!isObject(answer))
      throw invalidAnswer(source.provider, 'a response that is not a JSON object')
    if (isFailure(answer)) throw toCallerError({ status: 200, body: answer }, source)
    const severities = readSeverities(answer)
    if (!severities) throw invalidAnswer(source.provider, 'a response without all severities')
    const isFlagged = (severity: number) => severity >= options.moderationFlagSeverity
    const result = {
      flagged: Object.values(severities).some(isFlagged),
      categories: mapValues(severities, isFlagged),
      category_scores: mapValues(severities, (severity) => severity / highestSeverity),
    }
    return { answer: { results: [result] }, usage: undefined }
  },
}

const readsInstead = (data: unknown) =>
  data ? 'reads text, and no images' : 'reads images as data URLs, not from addresses'

type Input = Moderating['input']

function imagesOf(input: Input): { index: number; url: string }[] {
  if (typeof input === 'string') return []
  return input.flatMap((item: string | ModerationPart, index) =>
    typeof item !== 'string' && item.type === 'image_url'
      ? [{ index, url: item.image_url.url }]
      : [],
  )
}

/** Returns the text of an input, its parts joined. */
function toOneText(input: Input): string {
  if (typeof input === 'string') return input
  return input
    .flatMap((item: string | ModerationPart) => {
      if (typeof item === 'string') return [item]
      return item.type === 'text' ? [item.text] : []
    })
    .join('\n')
}

type Severities = Readonly<Record<string, number>>

/** Returns the severity of each category by its name in OpenAI's answers; undefined where one is missing. */
function readSeverities({ categoriesAnalysis }: JsonObject): Severities | undefined {
  const severityOf = new Map(
    toObjects(categoriesAnalysis).map(({ category, severity }) => [category, severity]),
  )
  const severities: Record<string, number> = {}
  for (const [theirs, name] of Object.entries(categoryNames)) {
    const severity = severityOf.get(theirs)
    if (typeof severity !== 'number' || !(severity >= 0 && severity <= highestSeverity)) {
      return undefined
    }
    severities[name] = severity
  }
  return severities
}

const mapValues = <Value>(severities: Severities, valueOf: (severity: number) => Value) =>
  Object.fromEntries(Object.entries(severities).map(([name, value]) => [name, valueOf(value)]))
