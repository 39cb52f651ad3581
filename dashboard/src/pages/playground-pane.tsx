import { Code, Paper, Stack } from '@mantine/core'
import { ModelPicker } from '../components/model-picker'
import { Problem } from '../components/problem'
import { TalkLog } from '../components/talk-log'
import type { Line } from '../conversation'

interface Props {
  /** The label that distinguishes the two panes. */
  label: string
  model: string
  onModel: (model: string) => void
  lines: readonly Line[]
  isBusy: boolean
  error: Error | undefined
}

/** One conversation with its model. */
export const Pane = ({ label, model, onModel, lines, isBusy, error }: Props) => (
  <Paper withBorder p="md" miw={0}>
    <Stack gap="sm">
      <ModelPicker label={label} model={model} onChange={onModel} />
      <Problem error={error} />
      <TalkLog
        label={`Conversation with ${model || 'a model'}`}
        lines={lines}
        isBusy={isBusy}
        height={{ base: '32vh', sm: '44vh' }}
      >
        Send a message to {model ? <Code>{model}</Code> : 'the model'}.
      </TalkLog>
    </Stack>
  </Paper>
)
