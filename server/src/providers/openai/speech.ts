import { readEvent } from '../event'
import type { SpeechEvent, SpeechForm } from '../speech-form'
import { toCallerError } from '../upstream-error'
import { isObject, type JsonObject } from '../../wire/json-body'
import { speechFormats } from '../../wire/speech-format'
import { noUsage, type Usage } from '../../wire/usage'

const maxTokens = 1_000_000_000
const isCount = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= maxTokens

/** Reads the tokens of a text and of its sound; undefined where they are not reported. */
function readUsage(block: unknown): Usage | undefined {
  if (!isObject(block)) return undefined
  const { input_tokens: input, output_tokens: audioOutput } = block
  if (!isCount(input) || !isCount(audioOutput)) return undefined
  return { ...noUsage, input, audioOutput }
}

/** Reads `speech.audio.delta` and `speech.audio.done`. */
function toSpeechEvent({ type, audio, usage }: JsonObject): SpeechEvent {
  if (type === 'speech.audio.done') return { usage: readUsage(usage), isLast: true }
  if (typeof audio !== 'string') return {}
  return { sound: Buffer.from(audio, 'base64').toString('latin1') }
}

/**
 * OpenAI's form, which Azure, Groq, Together, Kokoro, vLLM and others have too; the request passes as it came.
 * @see https://platform.openai.com/docs/api-reference/audio/createSpeech
 */
export const openAiSpeech: SpeechForm = {
  formats: speechFormats,
  usualFormat: 'mp3',
  eventsOnly: false,
  needsHeader: () => false,
  maxCharacters: ({ options }) => options.speech.maxCharacters,
  omits: [],
  write: (_request, body, { upstreamModel, options, format, asEvents }) => {
    const { stream_format: _streamFormat, ...rest } = body
    const written: JsonObject = { ...rest, model: upstreamModel, response_format: format }
    for (const name in written) if (written[name] === null) delete written[name]
    for (const name of options.drop) delete written[name]
    if (asEvents) written['stream_format'] = 'sse'
    return { body: written }
  },
  read: (data, source) => toSpeechEvent(readEvent(data, source)),
  toError: toCallerError,
}

/** Models that answer with bytes alone. */
const bytesOnly = /(?:^|\/)tts-1/

/** Whether a model may answer with events, as far as its name shows. */
export const mayStreamEvents = (upstreamModel: string): boolean => !bytesOnly.test(upstreamModel)
