import type { FullReply } from './request'
import type { Transcribing, TranscriptionAnswer } from '../providers/transcriptions/format'
import type { JsonObject } from '../wire/json-body'
import { toDiarizedJson, toSrt, toVerboseJson, toVtt } from '../wire/transcript'
import { wantedTimes } from '../wire/transcription-request'
import { completionTokens, promptTokens, type Usage } from '../wire/usage'

type RenderedReply = Pick<FullReply, 'body' | 'text'>

/** Renders a transcript in the format that its caller wants. */
export function renderTranscription(
  answer: TranscriptionAnswer,
  { format, task, params }: Transcribing,
  usage: Usage,
): RenderedReply {
  const { transcript } = answer
  const whole = (makeBody: () => JsonObject): RenderedReply => {
    const { model: _model, ...body } = answer.body ?? makeBody()
    return { body: { ...body, usage: body['usage'] ?? toUsageBlock(usage) } }
  }
  switch (format) {
    case 'json':
      return whole(() => ({ text: transcript.text }))
    case 'verbose_json':
      return whole(() => toVerboseJson(transcript, { task, ...wantedTimes(params) }))
    case 'diarized_json':
      return whole(() => toDiarizedJson(transcript))
    case 'text':
      return toText(`${transcript.text}\n`)
    case 'srt':
      return toText(toSrt(transcript))
    default:
      return toText(toVtt(transcript), 'text/vtt; charset=utf-8')
  }
}

const toText = (content: string, type = 'text/plain; charset=utf-8'): RenderedReply => ({
  body: { text: content },
  text: { type, content },
})

/** The usage as OpenAI has it for transcripts: tokens, where there are some, else the time of the sound. */
export function toUsageBlock(usage: Usage): JsonObject {
  const { audioInput, audioMs = 0 } = usage
  const input = promptTokens(usage)
  const output = completionTokens(usage)
  if (input + output === 0) return { type: 'duration', seconds: audioMs / 1000 }
  return {
    type: 'tokens',
    input_tokens: input,
    input_token_details: { text_tokens: input - audioInput, audio_tokens: audioInput },
    output_tokens: output,
    total_tokens: input + output,
  }
}
