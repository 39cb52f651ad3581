/** A pattern that no text may match, with what to write instead. */
export type WordingRule = readonly [RegExp, string]

/** Phrases for which the field has other words, in names of tests and in texts that clients read. */
export const dialect: readonly WordingRule[] = [
  [/\b(?:nobody|whoever|somebody|anybody|someone|anyone)\b/i, 'client, caller, account, operator'],
  [/\b(?:he|his|him|himself)\b/, 'its, their, or the noun'],
  [/\b(?:told|tells?|telling)\b/i, 'shows, reports, reveals, receives'],
  [/\bsays? so\b/, 'reports, names, is marked'],
  [/\bit says\b/, 'it reports, the given …'],
  [/\b(?:is|are) none\b/, 'is invalid, unset, missing, rejected'],
  [/\ball the same\b/, 'still'],
  [/\bno more\b|\ball there is\b/, 'at most, exactly'],
  [/\bones? (?:that|which|who|whose)\b/, 'the noun'],
  [/(?<![$%{])\bwhat\b/i, 'the noun'],
  [/\b(?:whatever|wherever|whenever)\b/i, 'for any, at every, in any'],
  [/\bgets? (?!through|around)/, 'receives'],
  [/\bone['’]s own\b/, 'the caller’s own, its own'],
  [/\basks?\b|\basked\b(?!:)/i, 'requests, requires, calls, queries'],
  [/(?<!there )\b(?:is|are|was|were) no (?!longer)/i, 'is not a, is an invalid'],
  [/\bsaid\b|\bsays? (?:what|which|how|when|where|why|who|that|it|nothing)\b/, 'reports, names'],
  [/\b(?:is|are|was|were) (?:not )?there\b/, 'exists, is missing'],
  [/\b(?:is|are|was|were|be) refused\b/, 'is rejected'],
  [/\b(?:dearer|dearest|for ever)\b/, 'more expensive, without end'],
]

/** Returns what to write instead of each phrase of a text that matches a rule. */
export const adviceFrom = (text: string, rules: readonly WordingRule[]): string[] =>
  rules.flatMap(([pattern, advice]) => {
    const found = pattern.exec(text)?.[0]
    return found === undefined ? [] : [`"${found}": ${advice}`]
  })
