import { Group, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { usePageTitle } from './document-title'
import { useHeadingFocus } from './page-focus'
import { FailureScope } from './query-failure'

interface Props {
  title: string
  /** The list that the page's item belongs to, for the document's title. */
  list?: string
  /** Content below the title, such as the state of the item. */
  details?: ReactNode
  /** The width of a page of text. */
  maxWidth?: number
  /** The purpose of the page in one sentence. */
  about?: string
  /** The link to the parent list, above the title. */
  back?: ReactNode
  /** Actions, right of the title. */
  actions?: ReactNode
  children: ReactNode
}

const pageWidth = 1180

/** The frame of a page: title, purpose and actions. */
export function Page({ title, list, children, ...props }: Props) {
  const { about, back, actions, details, maxWidth = pageWidth } = props
  usePageTitle(list === undefined ? title : `${title} · ${list}`)
  const heading = useHeadingFocus()
  return (
    <Stack gap="lg" maw={maxWidth} mx="auto">
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
            style={{ outline: 'none', overflowWrap: 'anywhere' }}
          >
            {title}
          </Title>
          {actions}
        </Group>
        {details}
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
