import { Calls } from './calls'
import { readEvent, type GoogleEvent, type EventPart } from './events'
import { toGoogleFinishReason } from './finish-reason'
import { AnswerMedia } from './answer-media'
import { toGroundingParts } from './grounding'
import { signatureField } from './signatures'
import { GoogleCounts } from './usage'
import type { Part } from '../../wire/answer-part'
import type { AnswerWish, PartsReader } from '../adapter'
import { invalidAnswer, type ErrorSource } from '../upstream-error'

/**
 * Reads a stream of `GenerateContentResponse`. It has no end marker: an answer is whole when its
 * finish reason has come. @see https://ai.google.dev/api/generate-content#GenerateContentResponse
 */
export function createPartsReader(source: ErrorSource, wish?: AnswerWish): PartsReader {
  const calls = new Calls(source)
  let isFinished = false
  /** The whole text so far: grounding names positions in it, and may come at the end. */
  const texts: string[] = []
  let grounding: unknown
  const counts = new GoogleCounts()
  const media = new AnswerMedia(wish?.sound)

  function toParts(part: EventPart): Part[] {
    if (part.functionCall) return calls.next(part.functionCall, part)
    const { text, thought, inlineData, thoughtSignature } = part
    const parts: Part[] = []
    if (text) parts.push({ type: thought ? 'reasoning' : 'text', text })
    if (text && !thought) texts.push(text)
    // No client has a field for media of a thought, or shows them.
    if (inlineData && !thought) parts.push(media.toPart(inlineData))
    // The signature of a text improves the next answer, if the client sends it back.
    if (thoughtSignature && !thought) {
      parts.push({ type: 'extra', fields: signatureField(thoughtSignature) })
    }
    return parts
  }

  function finish(googleReason: string): Part {
    const reason = toGoogleFinishReason(googleReason, calls.any)
    if (!reason) throw invalidAnswer(source.provider, `a failed response: ${googleReason}`)
    isFinished = true
    return { type: 'finish', reason, ...(calls.isCut && { isCut: true }) }
  }

  function partsOf(event: GoogleEvent): Part[] {
    const [candidate] = event.candidates ?? []
    if (!candidate) {
      const isBlocked = event.promptFeedback?.blockReason && !isFinished
      return isBlocked ? [finish('SAFETY')] : []
    }
    const parts = (candidate.content?.parts ?? []).flatMap(toParts)
    grounding = candidate.groundingMetadata ?? grounding
    if (isFinished && parts.some(({ type }) => type !== 'extra')) {
      throw invalidAnswer(source.provider, 'data after the end of its response')
    }
    if (isFinished) return []
    const googleReason = candidate.finishReason
    if (!googleReason) return parts
    // Only an ordinary end leaves a call complete whose own end is missing.
    if (googleReason !== 'STOP') calls.drop()
    const cited = toGroundingParts(grounding, grounding === undefined ? '' : texts.join(''))
    return [...parts, ...cited, ...calls.close(), finish(googleReason)]
  }

  return function read(data) {
    const event = readEvent(data, source)
    const parts = partsOf(event)
    const usage = counts.next(event.usageMetadata, media.modality)
    if (!usage) return parts
    return [...parts, { type: 'usage', usage, corrects: true, missing: counts.missingSides }]
  }
}
