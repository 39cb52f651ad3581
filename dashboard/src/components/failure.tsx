import { Alert, Button, Group, Text } from '@mantine/core'

interface Props {
  /** The errors; those with the same message are shown once. */
  errors: readonly Error[]
  retry: () => void
}

/** An error message with a retry button. */
export const Failure = ({ errors, retry }: Props) => (
  <Alert color="red" title="Could not load data">
    {[...new Set(errors.map(({ message }) => message))].map((message) => (
      <Text key={message} size="sm">
        {message}
      </Text>
    ))}
    <Group mt="sm">
      <Button size="xs" variant="light" color="red" onClick={retry}>
        Try again
      </Button>
    </Group>
  </Alert>
)
