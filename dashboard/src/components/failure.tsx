import { Alert, Button, Group, Text } from '@mantine/core'

interface Props {
  /** The error messages; the same ones are shown once. */
  messages: readonly string[]
  title?: string
  /** Tries again; absent where that would end in the same. */
  retry?: (() => void) | undefined
}

/** An error message with a retry button. */
export const Failure = ({ messages, title = 'Could not load data', retry }: Props) => (
  <Alert color="red" title={title}>
    {[...new Set(messages)].map((message) => (
      <Text key={message} size="sm">
        {message}
      </Text>
    ))}
    {retry && (
      <Group mt="sm">
        <Button size="xs" variant="light" color="red" onClick={retry}>
          Try again
        </Button>
      </Group>
    )}
  </Alert>
)
