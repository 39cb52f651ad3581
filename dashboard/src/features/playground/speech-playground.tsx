import { Autocomplete, Button, Group, Select, Stack, Text, Textarea } from '@mantine/core'
import { useLocation } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { estimateSpeech } from './media-estimate'
import { MediaFrame } from './media-frame'
import { createSpeech } from './media-queries'
import { useMediaModel } from './use-media-model'
import { useObjectUrl } from './use-object-url'
import { useRequest } from './use-request'

/** Voices of OpenAI; other providers have others, which can be typed. */
const voices = [
  'alloy',
  'ash',
  'ballad',
  'coral',
  'echo',
  'fable',
  'nova',
  'onyx',
  'sage',
  'shimmer',
  'verse',
]
const formats = ['mp3', 'wav', 'opus', 'aac', 'flac', 'pcm']

interface Fields {
  input: string
  voice: string
  format: string
}

interface FieldsProps {
  fields: Fields
  onChange: (fields: Fields) => void
}

const RequestFields = ({ fields, onChange }: FieldsProps) => (
  <>
    <Textarea
      label="Text"
      description="What the model says."
      autosize
      minRows={3}
      maxRows={10}
      maxLength={100_000}
      value={fields.input}
      onChange={(event) => onChange({ ...fields, input: event.currentTarget.value })}
    />
    <Group grow align="flex-start" gap="sm">
      <Autocomplete
        label="Voice"
        placeholder="Default"
        data={voices}
        maxLength={256}
        value={fields.voice}
        onChange={(voice) => onChange({ ...fields, voice })}
        spellCheck={false}
      />
      <Select
        label="Format"
        placeholder="Default"
        data={formats}
        clearable
        clearButtonProps={{ 'aria-label': 'Use the default format' }}
        value={fields.format || null}
        onChange={(format) => onChange({ ...fields, format: format ?? '' })}
      />
    </Group>
  </>
)

const extensions: Readonly<Record<string, string>> = {
  'audio/mpeg': 'mp3',
  'audio/ogg': 'opus',
  'audio/opus': 'opus',
  'audio/aac': 'aac',
  'audio/flac': 'flac',
  'audio/wav': 'wav',
  'audio/pcm': 'pcm',
}

const extensionOf = ({ type }: Blob) => extensions[type.split(';')[0] ?? ''] ?? 'mp3'

/** Plays the sound, where browsers can, and saves it. */
function Sound({ sound }: { sound: Blob }) {
  const url = useObjectUrl(sound)
  const extension = extensionOf(sound)
  return (
    <Stack gap="xs">
      {extension === 'pcm' ? (
        <Text size="sm" c="dimmed">
          Browsers do not play PCM. Download it, or select another format.
        </Text>
      ) : (
        <audio controls src={url} aria-label="Speech" style={{ width: '100%' }} />
      )}
      <Group>
        <Button
          component="a"
          href={url}
          download={`speech.${extension}`}
          size="xs"
          variant="default"
          aria-label="Download the speech"
        >
          Download
        </Button>
      </Group>
    </Stack>
  )
}

/** Speech of a text. */
export function SpeechPlayground({ kinds }: { kinds: ReactNode }) {
  const model = useMediaModel('speech')
  const initial = useLocation({ select: ({ state }) => state.message })
  const [fields, setFields] = useState<Fields>({
    input: initial ?? '',
    voice: 'alloy',
    format: '',
  })
  const { run, ...outcome } = useRequest<Blob>()
  const { input, voice, format } = fields
  const send = () =>
    void run((signal) =>
      createSpeech(
        {
          model: model.model,
          input,
          voice: voice.trim() || undefined,
          response_format: format || undefined,
        },
        signal,
      ),
    )
  return (
    <MediaFrame
      kind="speech"
      kinds={kinds}
      model={model}
      fields={<RequestFields fields={fields} onChange={setFields} />}
      action="Create speech"
      isReady={model.model !== '' && input.trim() !== ''}
      onSend={send}
      estimate={model.known && estimateSpeech(model.known.pricing, input)}
      outcome={outcome}
      announcement={outcome.result ? 'Speech created.' : ''}
      empty="The speech appears here."
    >
      {outcome.result && <Sound sound={outcome.result} />}
    </MediaFrame>
  )
}
