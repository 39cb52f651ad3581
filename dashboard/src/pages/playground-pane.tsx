import { Code, Paper, Stack } from '@mantine/core'
import { ModelPicker } from '../components/model-picker'
import { Problem } from '../components/problem'
import { TalkLog } from '../components/talk-log'
import type { Line } from '../conversation'

interface Props {
  /** What it is called where there are two. */
  label: string
  model: string
  onModel: (model: string) => void
  lines: readonly Line[]
  isBusy: boolean
  error: Error | undefined
}

/** One conversation: its model, and what was said. */
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
        Say something, and {model ? <Code>{model}</Code> : 'the model'} answers.
      </TalkLog>
    </Stack>
  </Paper>
)
