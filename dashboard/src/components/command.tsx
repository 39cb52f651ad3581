import { Code, Group, Stack } from '@mantine/core'
import { Copy } from './copy'

interface Props {
  /** What it does; its name for who does not see it. */
  label: string
  text: string
}

/** Something to run in a shell, and the way to take it there. */
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
