import { Anchor, Center, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { usePageTitle } from './document-title'

/** Says that an address leads nowhere, inside the shell. */
export function NotFound() {
  usePageTitle('Page not found')
  return (
    <Center mih="60vh" p="md">
      <Stack align="center" gap="xs">
        <Title order={1} size="h2">
          Page not found
        </Title>
        <Text c="dimmed" ta="center">
          The address may be mistyped, or the page no longer exists.
        </Text>
        <Anchor component={Link} to="/">
          Go to overview
        </Anchor>
      </Stack>
    </Center>
  )
}

/** The same as a whole document, without the shell. */
export const NotFoundDocument = () => (
  <main>
    <NotFound />
  </main>
)
