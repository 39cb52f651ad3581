import { Paper, Stack, Title } from '@mantine/core'
import type { ReactNode } from 'react'

interface Props {
  title: string
  children: ReactNode
}

/** A section of a page under its own heading. */
export const Card = ({ title, children }: Props) => (
  <Paper withBorder p="lg" component="section" aria-label={title}>
    <Stack gap="sm">
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  </Paper>
)
