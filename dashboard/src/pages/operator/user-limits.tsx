import { Button, Group, NumberInput, Select, Stack, Text } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { admin, json } from '../../api'
import { Card } from '../../components/card'
import { Problem } from '../../components/problem'
import { quotaTypes, type QuotaType } from '../../money-search'
import { toChoices, toOverrides, type Choices } from '../../operator/overrides'
import { limitWords } from '../../operator/limit-words'
import { plansQuery, type Plan } from '../../operator/plans'
import { useRefresh } from '../../operator/refresh'
import type { User } from '../../operator/users'
import { quotaNames } from '../../quota'
import { useSubmit } from '../../submit'

const modes = [
  { value: 'plan', label: 'Plan limit' },
  { value: 'none', label: 'No limit' },
  { value: 'own', label: 'Custom' },
]

/** The limits of a user that override the plan. */
export function UserLimits({ user }: { user: User }) {
  const refresh = useRefresh()
  const { data: plans = [] } = useQuery(plansQuery)
  const plan = plans.find(({ id }) => id === user.plan_id)
  const form = useForm<Choices>({ initialValues: toChoices(user.limits) })
  const { submit, isBusy, error } = useSubmit(async (choices: Choices) => {
    const sent = json({ limits: toOverrides(choices) })
    const answer = await admin.users[':id'].$put({ param: { id: user.id } }, sent)
    const kept = toChoices((await answer.json()).limits)
    form.setInitialValues(kept)
    form.setValues(kept)
    await refresh()
    notifications.show({ message: 'Saved. Applies from the next request.' })
  })
  return (
    <Card title="Limits">
      <Text size="sm" c="dimmed">
        Plan: {user.plan.name}. Set limits here that override the plan for this account.
      </Text>
      <form onSubmit={form.onSubmit((choices) => void submit(choices))}>
        <Stack gap="md">
          <Problem error={error} />
          {quotaTypes.map((type) => (
            <LimitChoice key={type} type={type} plan={plan} form={form} />
          ))}
          <Group>
            <Button type="submit" loading={isBusy} disabled={!form.isDirty()}>
              Save limits
            </Button>
          </Group>
        </Stack>
      </form>
    </Card>
  )
}

interface ChoiceProps {
  type: QuotaType
  plan: Plan | undefined
  form: UseFormReturnType<Choices>
}

const LimitChoice = ({ type, plan, form }: ChoiceProps) => (
  <Group align="flex-end" gap="sm">
    <Select
      label={quotaNames[type]}
      {...(plan && { description: `Plan: ${limitWords(type, plan[type])}` })}
      w={240}
      data={modes}
      allowDeselect={false}
      {...form.getInputProps(`${type}.mode`)}
    />
    {form.values[type].mode === 'own' && (
      <NumberInput
        aria-label={`${quotaNames[type]} of this account`}
        required
        min={type === 'monthly_spend' ? 0 : 1}
        decimalScale={type === 'monthly_spend' ? 2 : 0}
        prefix={type === 'monthly_spend' ? '$' : ''}
        thousandSeparator
        {...form.getInputProps(`${type}.value`)}
      />
    )}
  </Group>
)
