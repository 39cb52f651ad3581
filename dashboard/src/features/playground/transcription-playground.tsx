import { FileInput, Group, Paper, Text, TextInput } from '@mantine/core'
import { useState, type DragEvent, type ReactNode } from 'react'
import { Copy } from '../../components/copy'
import { estimateTranscription } from './media-estimate'
import { MediaFrame } from './media-frame'
import { createTranscription } from './media-queries'
import { useMediaModel } from './use-media-model'
import { useObjectUrl } from './use-object-url'
import { useRequest } from './use-request'

const megabyte = 1024 * 1024

const sizeOf = ({ size }: File) =>
  size < megabyte ? `${Math.ceil(size / 1024)} kB` : `${(size / megabyte).toFixed(1)} MB`

interface FileProps {
  file: File | null
  onFile: (file: File | null) => void
  /** Receives the length of the sound, where the browser can read it. */
  onSeconds: (seconds: number | undefined) => void
}

/** The input for a recording: chosen, or dropped on it. */
function AudioFile({ file, onFile, onSeconds }: FileProps) {
  const [isOver, setOver] = useState(false)
  const url = useObjectUrl(file)
  const over = (isFileOver: boolean) => (event: DragEvent) => {
    event.preventDefault()
    setOver(isFileOver)
  }
  return (
    <Paper
      withBorder
      p="sm"
      onDragOver={over(true)}
      onDragLeave={over(false)}
      onDrop={(event) => {
        over(false)(event)
        onFile(event.dataTransfer.files[0] ?? null)
      }}
      style={{
        borderStyle: 'dashed',
        ...(isOver && { borderColor: 'var(--mantine-primary-color-filled)' }),
      }}
    >
      <FileInput
        label="Audio file"
        description="Choose a recording, or drop one here."
        placeholder="Choose a file"
        accept="audio/*,video/mp4,video/webm,.flac,.m4a,.mp3,.mp4,.mpeg,.mpga,.oga,.ogg,.wav,.webm"
        clearable
        clearButtonProps={{ 'aria-label': 'Remove the file' }}
        value={file}
        onChange={onFile}
      />
      {file && (
        <>
          <Text size="xs" c="dimmed" my={4}>
            {sizeOf(file)}
          </Text>
          <audio
            controls
            src={url}
            aria-label="Recording"
            style={{ width: '100%' }}
            onLoadedMetadata={({ currentTarget: { duration } }) =>
              onSeconds(Number.isFinite(duration) ? duration : undefined)
            }
          />
        </>
      )}
    </Paper>
  )
}

const Transcript = ({ text }: { text: string }) => (
  <>
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text || 'The recording has no words.'}
    </Text>
    <Group>
      <Copy label="Copy" value={text} />
    </Group>
  </>
)

/** The text of a recording. */
export function TranscriptionPlayground({ kinds }: { kinds: ReactNode }) {
  const model = useMediaModel('transcription')
  const [file, setFile] = useState<File | null>(null)
  const [seconds, setSeconds] = useState<number>()
  const [language, setLanguage] = useState('')
  const { run, ...outcome } = useRequest<string>()
  const { result } = outcome
  const choose = (chosen: File | null) => {
    setFile(chosen)
    setSeconds(undefined)
  }
  const send = () => {
    if (!file) return
    const fields = { model: model.model, file, language: language.trim() || undefined }
    void run((signal) => createTranscription(fields, signal))
  }
  return (
    <MediaFrame
      kind="transcription"
      kinds={kinds}
      model={model}
      fields={
        <>
          <AudioFile file={file} onFile={choose} onSeconds={setSeconds} />
          <TextInput
            label="Language"
            description="Its code, such as en; empty to let the model find it."
            maxLength={16}
            value={language}
            onChange={(event) => setLanguage(event.currentTarget.value)}
            spellCheck={false}
          />
        </>
      }
      action="Transcribe"
      isReady={model.model !== '' && file !== null}
      onSend={send}
      estimate={model.known && estimateTranscription(model.known.pricing, seconds)}
      outcome={outcome}
      announcement={result === undefined ? '' : 'Transcript created.'}
      empty="The transcript appears here."
    >
      {result !== undefined && <Transcript text={result} />}
    </MediaFrame>
  )
}
