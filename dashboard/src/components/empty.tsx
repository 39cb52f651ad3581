import { Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  title: string
  children: ReactNode
  /** The first thing to do. */
  action?: ReactNode
}

/** What stands where there is nothing yet: what would be here, and how it comes. */
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
