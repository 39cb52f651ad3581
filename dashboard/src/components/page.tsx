import { Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'

interface Props {
  title: string
  /** What the page is for, in a sentence. */
  about?: string
  /** The way back to the list that it is of, above the title. */
  back?: ReactNode
  /** What can be done here, at the right of the title. */
  actions?: ReactNode
  children: ReactNode
}

/** The frame of a page: its name, what it is for, what can be done. */
export function Page({ title, about, back, actions, children }: Props) {
  useDocumentTitle(`${title} · Tollgate`)
  return (
    <Stack gap="lg" maw={1180} mx="auto">
      <Stack gap={4}>
        {back}
        <Group justify="space-between" gap="sm" className="page-head">
          {/* Beside what can be done it takes two lines rather than one below the other. */}
          <Title order={1} size="h2" flex="1 1 0">
            {title}
          </Title>
          {actions}
        </Group>
        {about && (
          <Text c="dimmed" size="sm" maw={640} style={{ textWrap: 'pretty' }}>
            {about}
          </Text>
        )}
      </Stack>
      {children}
    </Stack>
  )
}
