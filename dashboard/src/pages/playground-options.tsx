import { Collapse, Grid, NumberInput, Paper, Stack, Textarea } from '@mantine/core'

/** The options of a request; an empty field uses the model's default. */
export interface OptionFields {
  systemPrompt: string
  temperature: number | string
  maxTokens: number | string
}

export const plain: OptionFields = { systemPrompt: '', temperature: '', maxTokens: '' }

interface Props {
  isOpen: boolean
  options: OptionFields
  onChange: (options: OptionFields) => void
}

export const Options = ({ isOpen, options, onChange }: Props) => (
  <Collapse expanded={isOpen}>
    <Paper withBorder p="md">
      <Grid>
        <Grid.Col span={{ base: 12, sm: 8 }}>
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
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 4 }}>
          <Stack gap="sm">
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
        </Grid.Col>
      </Grid>
    </Paper>
  </Collapse>
)
