import { Anchor, Center, Stack, Text, Title } from '@mantine/core'
import { Link } from '@tanstack/react-router'

export const NotFound = () => (
  <Center mih="60vh" p="md">
    <Stack align="center" gap="xs">
      <Title order={1} size="h2">
        There is no such page
      </Title>
      <Text c="dimmed" ta="center">
        The address may be mistyped, or what it led to is gone.
      </Text>
      <Anchor component={Link} to="/">
        To the overview
      </Anchor>
    </Stack>
  </Center>
)
