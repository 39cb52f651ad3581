import { Group, Stack, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import { useHeadingFocus } from './page-focus'
import { FailureScope } from './query-failure'

interface Props {
  title: string
  /** The purpose of the page in one sentence. */
  about?: string
  /** The link to the parent list, above the title. */
  back?: ReactNode
  /** Actions, right of the title. */
  actions?: ReactNode
  children: ReactNode
}

/** The frame of a page: title, purpose and actions. */
export function Page({ title, about, back, actions, children }: Props) {
  useDocumentTitle(`${title} · Tollgate`)
  const heading = useHeadingFocus()
  return (
    <Stack gap="lg" maw={1180} mx="auto">
      <Stack gap={4}>
        {back}
        <Group justify="space-between" gap="sm" className="page-head">
          {/* Beside the actions the title wraps to two lines rather than moving below them. */}
          <Title
            order={1}
            size="h2"
            flex="1 1 0"
            ref={heading}
            tabIndex={-1}
            style={{ outline: 'none' }}
          >
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
      <FailureScope>{children}</FailureScope>
    </Stack>
  )
}
