import { Code, Paper, Stack } from '@mantine/core'
import { ModelPicker } from '../models/model-picker'
import { Problem } from '../../components/problem'
import { ChatLog } from '../automation/conversation-log'
import type { Line } from '../automation/conversation-lines'

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
      <ChatLog
        label={`Conversation with ${model || 'a model'}`}
        lines={lines}
        isBusy={isBusy}
        height={{ base: '32vh', sm: 'max(12rem, calc(100dvh - 33.5rem))' }}
      >
        Send a message to {model ? <Code>{model}</Code> : 'the model'}.
      </ChatLog>
    </Stack>
  </Paper>
)
