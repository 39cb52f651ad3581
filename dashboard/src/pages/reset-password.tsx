import { Anchor, Button, PasswordInput, Stack, Text } from '@mantine/core'
import { useForm } from '@mantine/form'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { EntryCard } from '../components/entry-card'
import { Problem } from '../components/problem'
import { passwordProblem } from '../password'
import { signIn } from '../session'
import { useSubmit } from '../submit'

const route = getRouteApi('/entry/reset-password')

export function ResetPasswordPage() {
  const { token, error: refusal } = route.useSearch()
  const [isDone, setDone] = useState(false)
  const form = useForm({ initialValues: { password: '' }, validate: { password: passwordProblem } })
  const { submit, isBusy, error } = useSubmit(async (password: string) => {
    await signIn.reset(token ?? '', password)
    setDone(true)
  })
  if (!token || refusal) {
    return (
      <EntryCard title="This link has expired">
        <Anchor size="sm" component={Link} to="/forgot-password">
          Request a new link
        </Anchor>
      </EntryCard>
    )
  }
  if (isDone) {
    return (
      <EntryCard title="Your password was changed">
        <Text size="sm">All sessions were signed out. Sign in with the new password.</Text>
        <Anchor size="sm" component={Link} to="/sign-in">
          Sign in
        </Anchor>
      </EntryCard>
    )
  }
  return (
    <EntryCard title="Choose a new password">
      <form onSubmit={form.onSubmit(({ password }) => void submit(password))}>
        <Stack gap="sm">
          <Problem error={error} />
          <PasswordInput
            label="New password"
            autoComplete="new-password"
            required
            autoFocus
            {...form.getInputProps('password')}
          />
          <Button type="submit" loading={isBusy}>
            Change password
          </Button>
        </Stack>
      </form>
    </EntryCard>
  )
}
