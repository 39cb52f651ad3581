import { Drawer, NumberInput, Paper, Stack, Textarea, Title } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'

/** The options of a request; an empty field uses the model's default. */
export interface OptionFields {
  systemPrompt: string
  temperature: number | string
  maxTokens: number | string
}

export const plain: OptionFields = { systemPrompt: '', temperature: '', maxTokens: '' }

interface FieldsProps {
  options: OptionFields
  onChange: (options: OptionFields) => void
}

const Fields = ({ options, onChange }: FieldsProps) => (
  <Stack gap="sm">
    <Textarea
      label="System prompt"
      description="Instructions before the conversation."
      autosize
      minRows={4}
      maxRows={12}
      maxLength={20_000}
      value={options.systemPrompt}
      onChange={(event) => onChange({ ...options, systemPrompt: event.currentTarget.value })}
    />
    <NumberInput
      label="Temperature"
      description="0 to 2; empty for the model's default."
      min={0}
      max={2}
      step={0.1}
      value={options.temperature}
      onChange={(temperature) => onChange({ ...options, temperature })}
    />
    <NumberInput
      label="Max. output tokens"
      description="Empty for the model's default."
      min={1}
      allowDecimal={false}
      value={options.maxTokens}
      onChange={(maxTokens) => onChange({ ...options, maxTokens })}
    />
  </Stack>
)

interface Props extends FieldsProps {
  isOpen: boolean
  onClose: () => void
}

/** From Mantine's `lg` on there is room beside the conversation. */
const roomBeside = '(min-width: 75em)'

/** The options beside the conversation; on a narrow screen in a drawer. */
export function Options({ isOpen, onClose, ...fields }: Props) {
  const isBeside = useMediaQuery(roomBeside, undefined, { getInitialValueInEffect: false })
  return isBeside ? (
    <Paper withBorder p="md" w={280} flex="none" component="section" aria-label="Options">
      <Title order={2} size="h5" mb="sm">
        Options
      </Title>
      <Fields {...fields} />
    </Paper>
  ) : (
    <Drawer opened={isOpen} onClose={onClose} position="right" size="sm" title="Options">
      <Fields {...fields} />
    </Drawer>
  )
}
