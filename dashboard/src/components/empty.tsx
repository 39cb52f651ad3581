import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  title: string
  children: ReactNode
  /** The first action to take. */
  action?: ReactNode
}

/** An empty state: what the list will show and how to fill it. */
export const Empty = ({ title, children, action }: Props) => (
  <Paper withBorder p="xl">
    <Stack align="center" gap="xs">
      <Title order={2} size="h4" ta="center">
        {title}
      </Title>
      <Text c="dimmed" ta="center" maw={460} size="sm">
        {children}
      </Text>
      {action}
    </Stack>
  </Paper>
)
