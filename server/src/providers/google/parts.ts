import { Calls } from './calls'
import { readEvent, type GoogleEvent, type EventPart } from './events'
import { toGoogleFinishReason } from './finish-reason'
import { toGroundingParts } from './grounding'
import { signatureField } from './signatures'
import { GoogleCounts } from './usage'
import type { Part } from '../../wire/answer-part'
import type { PartsReader } from '../adapter'
import { invalidAnswer, type ErrorSource } from '../upstream-error'

/**
 * Reads a stream of `GenerateContentResponse`. It has no end marker: an answer is whole when its
 * finish reason has come. @see https://ai.google.dev/api/generate-content#GenerateContentResponse
 */
export function createPartsReader(source: ErrorSource): PartsReader {
  const calls = new Calls(source)
  let isFinished = false
  /** The whole text so far: grounding names positions in it, and may come at the end. */
  const texts: string[] = []
  let grounding: unknown
  const counts = new GoogleCounts()

  function toParts(part: EventPart): Part[] {
    if (part.functionCall) return calls.next(part.functionCall, part)
    const { text, thought, inlineData, thoughtSignature } = part
    const parts: Part[] = []
    if (text) parts.push({ type: thought ? 'reasoning' : 'text', text })
    if (text && !thought) texts.push(text)
    // No client has a field for media of a thought, or shows them.
    if (inlineData && !thought) parts.push(toMedia(inlineData))
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
    if (isFinished) {
      if (parts.some(({ type }) => type !== 'extra')) {
        throw invalidAnswer(source.provider, 'data after the end of its response')
      }
      return []
    }
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
    const usage = counts.next(event.usageMetadata)
    const { missingSides: sides } = counts
    return usage ? [...parts, { type: 'usage', usage, corrects: true, missing: sides }] : parts
  }
}

/** An image as the field that OpenAI-alikes with such models have made common, or sound as OpenAI has it. */
function toMedia({ mimeType, data }: { mimeType: string; data: string }): Part {
  if (mimeType.startsWith('audio/')) {
    // Its samples are raw: only the type says how many there are in a second.
    const audio = { id: 'audio_0', data, transcript: '', mime_type: mimeType }
    return { type: 'extra', fields: { audio } }
  }
  const image_url = { url: `data:${mimeType};base64,${data}` }
  return { type: 'extra', fields: { images: [{ type: 'image_url', image_url }] } }
}
