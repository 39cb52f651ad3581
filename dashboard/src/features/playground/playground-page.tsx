import { SegmentedControl } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { ChatPlayground } from './chat-playground'
import { ImagePlayground } from './image-playground'
import { isPlaygroundKind, playgroundKinds, type PlaygroundKind } from './kinds'
import { SpeechPlayground } from './speech-playground'
import { TranscriptionPlayground } from './transcription-playground'

const route = getRouteApi('/home/playground')

const kinds = Object.entries(playgroundKinds).map(([value, label]) => ({ value, label }))

interface ControlProps {
  kind: PlaygroundKind
  onKind: (kind: string) => void
}

/** Selects the kind of models to try. */
const KindControl = ({ kind, onKind }: ControlProps) => (
  <SegmentedControl
    aria-label="Kind of model"
    data={kinds}
    value={kind}
    onChange={onKind}
    fullWidth
    maw={480}
  />
)

/** Models of one kind, which the address names. */
export function PlaygroundPage() {
  const { kind: named } = route.useSearch()
  const navigate = route.useNavigate()
  const kind = isPlaygroundKind(named) ? named : 'chat'
  const control = (
    <KindControl
      kind={kind}
      onKind={(next) =>
        void navigate({ search: next === 'chat' ? {} : { kind: next }, replace: true })
      }
    />
  )
  switch (kind) {
    case 'image':
      return <ImagePlayground kinds={control} />
    case 'speech':
      return <SpeechPlayground kinds={control} />
    case 'transcription':
      return <TranscriptionPlayground kinds={control} />
    default:
      return <ChatPlayground kinds={control} />
  }
}
