import { Code, Group, Stack } from '@mantine/core'
import { Copy } from './copy'

interface Props {
  /** Describes the command; its accessible name. */
  label: string
  text: string
}

/** A shell command with a copy button. */
export const Command = ({ label, text }: Props) => (
  <Stack gap={6}>
    <Code
      block
      tabIndex={0}
      aria-label={label}
      style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
    >
      {text}
    </Code>
    <Group>
      <Copy value={text} label="Copy command" />
    </Group>
  </Stack>
)
