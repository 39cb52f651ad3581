import { Anchor, Button, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { EntryCard } from '../components/entry-card'
import { Problem } from '../components/problem'
import { signIn } from '../session'
import { useSubmit } from '../submit'

export function ForgotPasswordPage() {
  const [sentTo, setSentTo] = useState<string>()
  const form = useForm({ initialValues: { email: '' } })
  const { submit, isBusy, error } = useSubmit(async (email: string) => {
    await signIn.forgot(email)
    setSentTo(email)
  })
  return (
    <EntryCard title="Reset your password" about="We email you a link to choose a new password.">
      {sentTo ? (
        <Text size="sm">
          If {sentTo} has an account, a link is on its way. It works for an hour.
        </Text>
      ) : (
        <form onSubmit={form.onSubmit(({ email }) => void submit(email))}>
          <Stack gap="sm">
            <Problem error={error} />
            <TextInput
              label="Email"
              type="email"
              autoComplete="username"
              required
              autoFocus
              {...form.getInputProps('email')}
            />
            <Button type="submit" loading={isBusy}>
              Send link
            </Button>
          </Stack>
        </form>
      )}
      <Anchor size="sm" component={Link} to="/sign-in">
        Back to sign-in
      </Anchor>
    </EntryCard>
  )
}
