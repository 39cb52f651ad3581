import { Anchor, Center, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'

export const NotFound = () => (
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
