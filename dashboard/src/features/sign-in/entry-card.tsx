import { Center, Paper, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Brand } from '../../components/brand'
import { usePageTitle } from '../../components/document-title'

interface Props {
  title: string
  about?: string
  children: ReactNode
}

/** The frame of a page for signed-out users: one form in the middle. */
export function EntryCard({ title, about, children }: Props) {
  usePageTitle(title)
  return (
    <Center mih="100vh" p="md">
      <Stack w="100%" maw={400} gap="lg">
        <Center>
          <Brand />
        </Center>
        <Paper withBorder shadow="sm" p="xl" component="main">
          <Stack gap="md">
            <div>
              <Title order={1} size="h3">
                {title}
              </Title>
              {about && (
                <Text c="dimmed" size="sm">
                  {about}
                </Text>
              )}
            </div>
            {children}
          </Stack>
        </Paper>
      </Stack>
    </Center>
  )
}
