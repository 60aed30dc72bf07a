/** Commands that go on after their call returned, one register per thread. */
export class ExecSessions {}
