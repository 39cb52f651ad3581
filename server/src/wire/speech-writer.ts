import type { EventWriter } from './event-writer'
import { frame, pingFrame } from './sse'
import { toErrorBody, type ApiError } from '../errors'
import { promptTokens, completionTokens, type Usage } from './usage'

/** Sends sound as it is: no text may stand in it, so that a failure can only break the connection. */
export class SoundWriter implements EventWriter {
  keepAlive(): string {
    return ''
  }

  write(chunk: string): string {
    return chunk
  }

  end(): string {
    return ''
  }

  fail(): string {
    return ''
  }
}

/** Sends the events of `stream_format: "sse"`, which arrive whole. */
export class SpeechEventWriter extends SoundWriter {
  override keepAlive(): string {
    return pingFrame
  }

  override fail(error?: ApiError, requestId = ''): string {
    return error ? frame(JSON.stringify({ type: 'error', ...toErrorBody(error, requestId) })) : ''
  }
}

/** Returns the event of a piece of sound, given as a binary string. */
export const toSpeechDelta = (sound: string): string =>
  frame(JSON.stringify({ type: 'speech.audio.delta', audio: btoa(sound) }))

/** Returns the last event. @see https://platform.openai.com/docs/api-reference/audio/speech-audio-done-event */
export function toSpeechDone(usage: Usage): string {
  const input = promptTokens(usage)
  const output = completionTokens(usage)
  const block = { input_tokens: input, output_tokens: output, total_tokens: input + output }
  return frame(JSON.stringify({ type: 'speech.audio.done', usage: block }))
}
