import { deepgram } from './deepgram'
import { elevenLabs } from './elevenlabs'
import type { TranscriptionFormat } from './format'
import { mistralForm, openAiForm } from './openai-form'
import type { Provider, RelayOptions } from '../provider'

const formats: Readonly<Record<RelayOptions['transcriptionFormat'], TranscriptionFormat>> = {
  openai: openAiForm,
  mistral: mistralForm,
  deepgram,
  elevenlabs: elevenLabs,
}

/** Returns the format of a provider's transcriptions. */
export const transcriptionFormatOf = ({
  options,
}: Pick<Provider, 'options'>): TranscriptionFormat => formats[options.transcriptionFormat]
