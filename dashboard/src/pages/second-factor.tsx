import {
  Badge,
  Button,
  Code,
  Group,
  Paper,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Problem } from '../components/problem'
import { security, sessionQuery, signIn } from '../session'
import { useSubmit } from '../submit'

interface Enrolment {
  totpURI: string
  backupCodes: string[]
}

/** Enables and disables two-factor authentication with an authenticator app. */
export function SecondFactor() {
  const queries = useQueryClient()
  const { data } = useSuspenseQuery(sessionQuery)
  const [enrolment, setEnrolment] = useState<Enrolment>()
  const isOn = data?.user.twoFactorEnabled === true
  const refresh = async (message: string) => {
    setEnrolment(undefined)
    await queries.invalidateQueries(sessionQuery)
    notifications.show({ message })
  }
  const toggling = useSubmit(async (password: string) => {
    if (!isOn) return setEnrolment(await security.enableFactor(password))
    await security.disableFactor(password)
    return refresh('Two-factor authentication disabled.')
  })
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm" maw={520}>
        <Group gap="xs">
          <Title order={2} size="h4">
            Two-factor authentication
          </Title>
          <Badge variant="light" color={isOn ? 'green' : 'gray'}>
            {isOn ? 'enabled' : 'disabled'}
          </Badge>
        </Group>
        <Text size="sm" c="dimmed">
          Sign-in requires a code from an authenticator app in addition to the password.
        </Text>
        {enrolment ? (
          <Confirmation
            enrolment={enrolment}
            onDone={() => refresh('Two-factor authentication enabled.')}
          />
        ) : (
          <Toggle isOn={isOn} {...toggling} />
        )}
      </Stack>
    </Paper>
  )
}

interface ToggleProps {
  isOn: boolean
  submit: (password: string) => Promise<void>
  isBusy: boolean
  error: Error | undefined
}

function Toggle({ isOn, submit, isBusy, error }: ToggleProps) {
  const form = useForm({ initialValues: { password: '' } })
  return (
    <form
      onSubmit={form.onSubmit(({ password }) => {
        form.reset()
        void submit(password)
      })}
    >
      <Problem error={error} />
      <Group align="flex-end">
        <PasswordInput
          label="Your password"
          autoComplete="current-password"
          required
          w={260}
          {...form.getInputProps('password')}
        />
        <Button type="submit" loading={isBusy} variant={isOn ? 'default' : 'filled'}>
          {isOn ? 'Disable' : 'Enable'}
        </Button>
      </Group>
    </form>
  )
}

interface ConfirmationProps {
  enrolment: Enrolment
  onDone: () => Promise<void>
}

function Confirmation({ enrolment: { totpURI, backupCodes }, onDone }: ConfirmationProps) {
  const form = useForm({ initialValues: { code: '' } })
  const { submit, isBusy, error } = useSubmit(async (code: string) => {
    await signIn.withCode(code)
    await onDone()
  })
  return (
    <Stack gap="sm">
      <Text size="sm">Add this key to your authenticator app:</Text>
      <Code block>{new URL(totpURI).searchParams.get('secret')}</Code>
      <Text size="sm">
        Store these backup codes safely. Each one signs you in once if you lose the app:
      </Text>
      <SimpleGrid cols={2} spacing={4}>
        {backupCodes.map((code) => (
          <Code key={code}>{code}</Code>
        ))}
      </SimpleGrid>
      <form onSubmit={form.onSubmit(({ code }) => void submit(code.trim()))}>
        <Problem error={error} />
        <Group align="flex-end">
          <TextInput
            label="Verification code"
            autoComplete="one-time-code"
            inputMode="numeric"
            required
            {...form.getInputProps('code')}
          />
          <Button type="submit" loading={isBusy}>
            Confirm
          </Button>
        </Group>
      </form>
    </Stack>
  )
}
