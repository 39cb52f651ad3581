import { AttemptFailed } from './attempt-failed'
import type { EventCutter } from './event-cutter'
import { findFirst, formOf } from './first-bytes'
import { SoundCutter } from './sound-cutter'
import { WholeAnswerCutter } from './whole-answer-cutter'
import type { UpstreamProtocol } from './protocol/protocol'
import { FrameReader } from '../providers/bedrock/event-stream'
import { invalidAnswer, type ErrorSource } from '../providers/upstream-error'
import { SseReader } from '../wire/sse'

const awsType = 'application/vnd.amazon.eventstream'
const sseType = 'text/event-stream'
const openAngle = 0x3c

/** A body that is none of what was requested. */
export const wrongType = ({ provider }: ErrorSource, type: string): AttemptFailed =>
  new AttemptFailed(invalidAnswer(provider, `an answer of type "${type.slice(0, 80)}"`), false)

type Framed = Pick<UpstreamProtocol, 'framing' | 'source' | 'toEvents' | 'readForm'>

/** The cutter of the events that were requested. */
export const cutterOf = ({ framing }: Pick<Framed, 'framing'>): EventCutter =>
  framing === 'aws' ? new FrameReader() : new SseReader()

function cutterByType(
  form: 'events' | 'json' | 'sound' | undefined,
  { source }: Pick<Framed, 'source'>,
  type: string,
): EventCutter {
  switch (form) {
    case 'events':
      return new SseReader()
    case 'json':
      return new WholeAnswerCutter((answer) => [answer])
    case 'sound':
      return new SoundCutter()
    default:
      throw wrongType(source, type)
  }
}

/**
 * Chooses the cutter of a body by its first bytes, which say what it is: providers, and proxies before them, label
 * streams as text, and answer whole where a stream was requested. Returns `requested` where it is that; undefined
 * while the bytes are blank. Throws `AttemptFailed` where it is neither.
 */
export function chooseCutter(
  bytes: Uint8Array,
  { protocol, type, requested }: { protocol: Framed; type: string; requested: EventCutter },
): EventCutter | undefined {
  if (protocol.readForm) return cutterByType(protocol.readForm(type), protocol, type)
  if (protocol.framing === 'aws') {
    if (type.includes(awsType)) return requested
    throw wrongType(protocol.source, type)
  }
  const first = findFirst(bytes)
  if (first === undefined) return undefined
  const form = formOf(first)
  if (form === 'json') {
    return new WholeAnswerCutter((answer) => protocol.toEvents?.(answer) ?? [answer])
  }
  const isLabelled = type.includes(sseType) && first !== openAngle
  if (form === 'other' && !isLabelled) throw wrongType(protocol.source, type)
  return requested
}
