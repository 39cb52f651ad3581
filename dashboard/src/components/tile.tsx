import { Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  label: string
  value: ReactNode
  /** Helps to judge the value. */
  hint?: ReactNode
}

/** One key figure. */
export const Tile = ({ label, value, hint }: Props) => (
  <Paper withBorder p="md" component="section" aria-label={label}>
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    <Text fz={24} fw={600} lh={1.3}>
      {value}
    </Text>
    {hint !== undefined && (
      <Text size="xs" c="dimmed">
        {hint}
      </Text>
    )}
  </Paper>
)
